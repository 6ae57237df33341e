package a2a

func doctorOps() []Info {
	return []Info{DoctorRun().info()}
}

// DoctorRun checks the machine and the store.
func DoctorRun() Op[Nothing, DoctorView] {
	return Op[Nothing, DoctorView]{Method: prefix + "doctor/run", Role: Admin, Doc: "check the machine and the store"}
}

// DoctorView is what doctor found.
type DoctorView struct {
	Findings []Finding `json:"findings"`
}

// Finding is one check: ok, warning or problem, with the way out.
type Finding struct {
	Name   string `json:"name"`
	Level  string `json:"level"` // ok, warning, problem
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}
