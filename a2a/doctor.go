package a2a

import "io"

func doctorOps() []Info {
	return []Info{DoctorRun().info()}
}

// DoctorRun checks the machine and the store.
func DoctorRun() Op[DoctorQuery, DoctorView] {
	return Op[DoctorQuery, DoctorView]{Method: prefix + "doctor/run", Role: Admin, Doc: "check the machine and the store"}
}

// DoctorQuery says what to do besides looking. Bundle is asked once, for where
// a report for others goes; its bytes are no part of the message.
type DoctorQuery struct {
	Fix    bool                      `json:"fix,omitempty"` // what can be made right without a loss
	Bundle func() (io.Writer, error) `json:"-"`
}

// DoctorView is what doctor found.
type DoctorView struct {
	Findings []Finding `json:"findings"`
	Bundle   string    `json:"bundle,omitempty"` // the file; filled in by who wrote it
}

// Finding is one check: ok, warning or problem, with the way out.
type Finding struct {
	Name   string `json:"name"`
	Level  string `json:"level"` // ok, warning, problem
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
	Fixed  string `json:"fixed,omitempty"` // what was made right
}
