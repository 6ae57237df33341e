package a2a

func dbOps() []Info {
	return []Info{DBPath().info(), DBStatus().info()}
}

// DBPath tells where the store is.
func DBPath() Op[Nothing, DBPathView] {
	return Op[Nothing, DBPathView]{Method: prefix + "db/path", Role: Admin, Doc: "where the store is"}
}

// DBStatus tells how the store is.
func DBStatus() Op[DBStatusQuery, DBStatusView] {
	return Op[DBStatusQuery, DBStatusView]{Method: prefix + "db/status", Role: Admin, Doc: "how the store is"}
}

// DBPathView is where the program keeps its data.
type DBPathView struct {
	Store  string `json:"store"`  // the database file
	Blobs  string `json:"blobs"`  // directory
	Engine string `json:"engine"` // the workflow engine's database file
	Trees  string `json:"trees"`  // directory of snapshots and sandboxes
}

// DBStatusQuery asks for a full check too.
type DBStatusQuery struct {
	Check bool `json:"check,omitempty"`
}

// DBStatusView is how the store is.
type DBStatusView struct {
	Path   string           `json:"path"`
	Schema int64            `json:"schema_version"`
	Bytes  int64            `json:"bytes"`
	Rows   map[string]int64 `json:"rows"`
	Check  string           `json:"check,omitempty"` // ok, or what is wrong
}
