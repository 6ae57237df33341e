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
	// Write and Read are the options of an Update's and a View's transaction.
	Write, Read sql.TxOptions
	// Kind tells what an error of the driver means; false for one that is not
	// the driver's or has no meaning of its own. A broken unique constraint is
	// Exists, a broken reference is NotFound, a value that the schema refuses
	// is Invalid.
	Kind func(error) (fault.Kind, bool)
}
