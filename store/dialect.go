package store

import (
	"database/sql"

	"github.com/cleveragents/agents/fault"
)

// Dialect is all in which the two databases differ; the SQL does not.
type Dialect struct {
	Name string
	// Lock is run first in every Update where BEGIN alone does not make
	// writers wait for each other; "" where it does.
	Lock string
	// Relax makes the writing connection commit without waiting for the disk,
	// and Strict with it; "" where RelaxTx does that for one transaction.
	Relax, Strict, RelaxTx string
	// Prepare says to keep the statements, each parsed once a connection: the
	// driver does not do so itself.
	Prepare bool
	// Write and Read are the options of an Update's and a View's transaction.
	Write, Read sql.TxOptions
	// Kind tells what an error of the driver means; false for one that is not
	// the driver's or has no meaning of its own. A broken unique constraint is
	// Exists, a broken reference is NotFound, a value that the schema refuses
	// is Invalid.
	Kind func(error) (fault.Kind, bool)
}
