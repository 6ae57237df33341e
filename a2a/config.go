package a2a

func configOps() []Info {
	return []Info{
		ConfigGet().info(), ConfigList().info(), ConfigSet().info(), ConfigUnset().info(), ConfigExplain().info(),
		ConfigEdit().info(), ConfigPath().info(), ConfigValidate().info(),
	}
}

// ConfigGet tells the value of a key that counts.
func ConfigGet() Op[ConfigQuery, ConfigValue] {
	return Op[ConfigQuery, ConfigValue]{Method: prefix + "config/get", Role: Reader, Doc: "tell the value of a key"}
}

// ConfigList lists the values that count.
func ConfigList() Op[ConfigListQuery, ConfigListView] {
	return Op[ConfigListQuery, ConfigListView]{Method: prefix + "config/list", Role: Reader, Doc: "list values"}
}

// ConfigSet sets a key for a person or a project.
func ConfigSet() Op[ConfigSetRequest, ConfigChange] {
	return Op[ConfigSetRequest, ConfigChange]{Method: prefix + "config/set", Role: Admin, Doc: "set a key"}
}

// ConfigUnset takes back what was set.
func ConfigUnset() Op[ConfigSetRequest, ConfigChange] {
	return Op[ConfigSetRequest, ConfigChange]{Method: prefix + "config/unset", Role: Admin, Doc: "take back what was set"}
}

// ConfigExplain tells what a key is for and all that is said about it.
func ConfigExplain() Op[ConfigQuery, ConfigKeyView] {
	return Op[ConfigQuery, ConfigKeyView]{Method: prefix + "config/explain", Role: Reader, Doc: "explain a key"}
}

// ConfigEdit gives out the whole text of a configuration, or takes a new one.
func ConfigEdit() Op[ConfigEditRequest, ConfigTextView] {
	return Op[ConfigEditRequest, ConfigTextView]{Method: prefix + "config/edit", Role: Admin, Doc: "change the whole text"}
}

// ConfigPath tells where the person's file is.
func ConfigPath() Op[Nothing, ConfigPathView] {
	return Op[Nothing, ConfigPathView]{Method: prefix + "config/path", Role: Reader, Doc: "where the file is"}
}

// ConfigValidate looks for what is wrong anywhere.
func ConfigValidate() Op[ConfigQuery, ConfigCheckView] {
	return Op[ConfigQuery, ConfigCheckView]{Method: prefix + "config/validate", Role: Reader, Doc: "check all that is set"}
}

// ConfigSaid is a value that the door was given, such as by a flag.
type ConfigSaid struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"` // the flag as it is written
}

// ConfigQuery asks for a key as it counts for a project; "" is the one here.
type ConfigQuery struct {
	Key     string       `json:"key,omitempty"`
	Project string       `json:"project,omitempty"`
	Said    []ConfigSaid `json:"said,omitempty"`
}

// ConfigListQuery asks for what is set, or for all keys.
type ConfigListQuery struct {
	Project string       `json:"project,omitempty"`
	Said    []ConfigSaid `json:"said,omitempty"`
	All     bool         `json:"all,omitempty"` // also what has its default
}

// ConfigOrigin is where a value came from.
type ConfigOrigin struct {
	Layer string `json:"layer"` // default, data, user, tree, project, environment or flag
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Name  string `json:"name,omitempty"` // of the variable, the flag, the project or the command
	Text  string `json:"text"`           // all of it, as a person reads it
}

// ConfigValue is a key with a value, as "config set" takes it.
type ConfigValue struct {
	Key    string       `json:"key"`
	Value  string       `json:"value"`
	Origin ConfigOrigin `json:"origin"`
}

// ConfigListView is values in the order of the table.
type ConfigListView struct {
	Project string        `json:"project,omitempty"`
	Values  []ConfigValue `json:"values"`
}

// ConfigSetRequest sets a key, or takes it back; for one project where that is
// named.
type ConfigSetRequest struct {
	Key     string `json:"key"`
	Value   string `json:"value,omitempty"`
	Project string `json:"project,omitempty"`
}

// ConfigChange is what was changed, and what counts now.
type ConfigChange struct {
	Key     string      `json:"key"`
	Value   string      `json:"value,omitempty"` // what was set
	Where   string      `json:"where"`           // the file or the project
	Changed bool        `json:"changed"`
	Now     ConfigValue `json:"now"`               // for the project here
	Problem string      `json:"problem,omitempty"` // something else is wrong, and Now is not known
}

// ConfigKeyView is a key with all that is said about it.
type ConfigKeyView struct {
	Key     string        `json:"key"`
	Doc     string        `json:"doc"`
	Type    string        `json:"type"`
	Takes   string        `json:"takes"`
	Default string        `json:"default"`
	Layers  []string      `json:"layers"` // that may set it, weakest first
	Vars    []string      `json:"variables"`
	Flag    string        `json:"flag,omitempty"`
	Instead string        `json:"instead,omitempty"` // the command that sets it where a file may not
	Said    []ConfigValue `json:"said"`              // strongest first
}

// ConfigEditRequest asks for the text of a configuration, or replaces it when
// Text is there and the text is still the one of Expect.
type ConfigEditRequest struct {
	Project string  `json:"project,omitempty"`
	Text    *string `json:"text,omitempty"`
	Expect  string  `json:"expect,omitempty"`
}

// ConfigTextView is a whole text and where it is kept.
type ConfigTextView struct {
	Where   string `json:"where"`
	Text    string `json:"text"`
	Hash    string `json:"hash"`
	Changed bool   `json:"changed"`
}

// ConfigPathView is where the person's file is.
type ConfigPathView struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

// ConfigCheckView is what was looked at and what is wrong.
type ConfigCheckView struct {
	Looked   []string        `json:"looked_at"`
	Problems []ConfigProblem `json:"problems"`
}

// ConfigProblem is one thing that is wrong.
type ConfigProblem struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}
