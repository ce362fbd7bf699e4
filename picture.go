package belfry

// Picture is an image that views and elements name. Its bytes are kept apart, under their hash, so that whoever knows
// the picture gets exactly the bytes that belong to it.
type Picture struct {
	Name    string `json:"name"`
	Type    string `json:"type"` // the media type that the bytes really have
	Hash    string `json:"hash"` // of the bytes, see DocImage
	Size    int64  `json:"size"`
	Width   int    `json:"width,omitempty"` // pixels; 0: as large as one likes
	Height  int    `json:"height,omitempty"`
	Creator string `json:"creator"`
	Changed Time   `json:"changed"`
}
