package store

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/cleveragents/agents/engine"
)

// bytesCell keeps bytes as they are.
type bytesCell struct{ p *[]byte }

func (c bytesCell) get() (driver.Value, error) { return *c.p, nil }

func (c bytesCell) set(v any) error {
	b, ok := v.([]byte)
	if !ok {
		return fmt.Errorf("%T is not bytes", v)
	}
	*c.p = append([]byte(nil), b...) // the driver's own are gone with the next row
	return nil
}

func blobColumns(b *engine.SmallBlob) []column {
	return []column{
		text("hash", &b.Hash).fix(),
		{name: "data", cell: bytesCell{&b.Data}},
	}
}

func (t *tx) PutBlob(b engine.SmallBlob) error {
	cols := blobColumns(&b)
	args, err := values(cols)
	if err != nil {
		return invalid("blob "+b.Hash, err)
	}
	// One that is there has the same bytes: its name is their hash.
	_, err = t.exec("blob "+b.Hash, insertText("blobs", names(cols), params(1, len(cols)), ""), args...)
	return err
}

func (t *tx) Blob(hash string) (engine.SmallBlob, error) {
	return one(t, "blob "+hash, blobColumns, "FROM blobs WHERE hash = $1", hash)
}

// Blob returns what PutBlob stored under the hash; it implements what the blob
// store looks small blobs up in.
func (d *DB) Blob(ctx context.Context, hash string) (data []byte, err error) {
	err = d.View(ctx, func(tx engine.Tx) error {
		b, err := tx.Blob(hash)
		data = b.Data
		return err
	})
	return data, err
}
