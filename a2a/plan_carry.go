package a2a

import "io"

func planCarryOps() []Info {
	return []Info{PlanExport().info(), PlanImport().info()}
}

// PlanExport writes a plan with everything that is recorded of it as one file.
func PlanExport() Op[PlanExportRequest, ExportView] {
	return Op[PlanExportRequest, ExportView]{Method: prefix + "plan/export", Role: Reader, Doc: "write a plan as one file"}
}

// PlanImport takes the history of a plan in.
func PlanImport() Op[PlanImportRequest, ImportView] {
	return Op[PlanImportRequest, ImportView]{Method: prefix + "plan/import", Role: Writer, Doc: "take a plan's history in"}
}

// PlanExportRequest says what goes into the file. To is asked once, for where
// the bytes go, when the plan is found; they are no part of the message.
type PlanExportRequest struct {
	Ref       string                               `json:"ref"`
	Artifacts bool                                 `json:"artifacts,omitempty"` // the blobs, too
	Redact    bool                                 `json:"redact,omitempty"`    // without prompts and outputs
	To        func(PlanSummary) (io.Writer, error) `json:"-"`
}

// ExportView is what was written.
type ExportView struct {
	Plan      PlanSummary `json:"plan"`
	File      string      `json:"file,omitempty"` // filled in by who wrote it
	Rows      int         `json:"rows"`
	Artifacts bool        `json:"artifacts"`
	Redacted  bool        `json:"redacted"`
	Blobs     int         `json:"blobs"`
	Missing   []string    `json:"missing,omitempty"` // blobs that are named and not there any more
}

// PlanImportRequest is the file; its bytes are no part of the message. It is
// read twice: nothing is stored before all of it is checked.
type PlanImportRequest struct {
	File string        `json:"file"` // for messages
	From io.ReadSeeker `json:"-"`
}

// ImportView is what was taken in.
type ImportView struct {
	Plan     PlanSummary `json:"plan"`
	Project  string      `json:"project"` // where it was made
	Rows     int         `json:"rows"`
	Blobs    int         `json:"blobs"`
	Redacted bool        `json:"redacted"`
}
