package api

import (
	"bytes"
	"net/http"
	"slices"
	"time"

	"belfry"
	"belfry/engine"
)

var (
	pictureName  = []Param{{Name: "name", Help: "Name of the picture, URL-encoded; a slash as %2F."}}
	pictureMedia = []Media{{Type: "image/png"}, {Type: "image/jpeg"}, {Type: "image/gif"}, {Type: "image/webp"}, {Type: "image/svg+xml"}}

	pictureRoutes = []Route{
		{
			Method: "GET", Path: "/api/pictures", Level: belfry.LevelRead, InTurn: true, serve: (*Server).listPictures,
			ID: "listPictures", Tag: "kinds", Help: "Lists the pictures by name.",
			Params:  listParams,
			Answers: []Answer{answers(200, "A page of pictures, by name.", pictureList{})},
		},
		{
			// Limited users see the pictures that are drawn where they may look.
			Method: "GET", Path: "/api/pictures/{name...}", Level: belfry.LevelRead, Limited: true, InTurn: true, serve: (*Server).picture,
			ID: "picture", Tag: "kinds", Help: "Returns a picture.",
			Wildcards: pictureName,
			Answers: []Answer{
				{
					Status: 200, Help: "The bytes. They are served so that no script in them runs.", Body: pictureMedia,
					Headers: []Param{{Name: "ETag", Help: "Changes with the bytes; send it in If-None-Match."}},
				},
				{Status: 206, Help: "The part that the header Range asks for.", Body: pictureMedia},
				{Status: 304, Help: "The picture is the one that If-None-Match names."},
			},
			Errors: []belfry.Code{belfry.UnknownItem},
		},
		{
			Method: "PUT", Path: "/api/pictures/{name...}", Level: belfry.LevelReadWriteDelete, serve: (*Server).putPicture,
			ID: "putPicture", Tag: "kinds", Help: "Stores a picture: PNG, JPEG, GIF, WebP or SVG.",
			Detail:    "The format is detected from the bytes. At most 2 MiB and 8192 pixels in each direction.",
			Wildcards: pictureName,
			Body:      append(slices.Clip(pictureMedia), Media{Type: "application/octet-stream"}),
			Answers: []Answer{
				answers(200, "The picture was replaced, or was the same already.", pictureAnswer{}),
				answers(201, "The picture is new.", pictureAnswer{}),
			},
			Errors: []belfry.Code{belfry.UnknownItem},
		},
		{
			Method: "DELETE", Path: "/api/pictures/{name...}", Level: belfry.LevelReadWriteDelete, serve: (*Server).deletePicture,
			ID: "deletePicture", Tag: "kinds", Help: "Removes a picture.",
			Wildcards: pictureName,
			Headers:   []Param{idempotencyKey},
			Answers:   []Answer{answers(200, "It is removed; items that use it show no picture.", removed{})},
			Errors:    []belfry.Code{belfry.UnknownItem},
		},
	}
)

// pictureList is a page of pictures.
type pictureList struct {
	Pictures []pictureInfo `json:"pictures"`
	More     bool          `json:"more"`
}

// pictureAnswer is the answer to a picture that was put.
type pictureAnswer struct {
	Result  string      `json:"result" schema:"enum=created|updated|unchanged"`
	Picture pictureInfo `json:"picture"`
}

// pictureInfo describes a picture.
type pictureInfo struct {
	Name    string `json:"name"`
	Type    string `json:"type" schema:"enum=image/png|image/jpeg|image/gif|image/webp|image/svg+xml"`
	Size    int64  `json:"size" schema:"minimum=1"`
	Width   int    `json:"width,omitempty" help:"Pixels; absent for SVG." schema:"minimum=1"`
	Height  int    `json:"height,omitempty" schema:"minimum=1"`
	ETag    string `json:"etag"`
	Creator string `json:"creator"`
	Changed string `json:"changed" schema:"format=date-time"`
}

func pictureInfoOf(p *belfry.Picture) pictureInfo {
	return pictureInfo{
		Name: p.Name, Type: p.Type, Size: p.Size, Width: p.Width, Height: p.Height, ETag: p.Hash, Creator: p.Creator, Changed: moment(p.Changed),
	}
}

func (s *Server) listPictures(w *answer, r *request) error {
	after, limit, err := r.page()
	if err != nil {
		return err
	}
	pictures, more := s.Tree.Documents().Pictures(r.customer, after, limit)
	list := make([]pictureInfo, 0, len(pictures))
	for _, p := range pictures {
		list = append(list, pictureInfoOf(p))
	}
	writeJSON(w, http.StatusOK, pictureList{list, more})
	return nil
}

// harmless is the content security policy of pictures. An SVG that is opened by its address is a document of this site; in the
// sandbox it has no origin, runs no script and loads nothing.
const harmless = "sandbox; default-src 'none'; style-src 'unsafe-inline'"

// picture answers with the bytes. A browser may cache them and has to revalidate.
func (s *Server) picture(w *answer, r *request) error {
	name, err := r.named("picture")
	if err != nil {
		return err
	}
	p := s.Tree.Documents().Picture(r.scope(), name)
	if p == nil {
		return s.Tree.Documents().Unknown(r.scope(), belfry.DocPicture, name)
	}
	image, err := s.Images.Image(r.ctx(), r.customer, p.Hash)
	if err != nil {
		return err
	}
	if image == nil { // removed in this moment
		return s.Tree.Documents().Unknown(r.scope(), belfry.DocPicture, name)
	}
	h := w.Header()
	h.Set("Content-Type", p.Type)
	h.Set("Content-Security-Policy", harmless)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", `"`+p.Hash+`"`)
	http.ServeContent(w, r.Request, "", time.Time{}, bytes.NewReader(image))
	return nil
}

func (s *Server) putPicture(w *answer, r *request) error {
	name, err := r.named("picture")
	if err != nil {
		return err
	}
	_, err = mediaType(r.Request, "application/octet-stream", "image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml")
	if err != nil {
		return err
	}
	image, err := imageBody(w, r)
	if err != nil {
		return err
	}
	p, err := compute(r, func() (*belfry.Picture, error) { return engine.ReadPicture(r.sender(), name, image) })
	if err != nil {
		return err
	}
	result, p, err := s.Engine.Definitions().PutPicture(r.sender(), p, image)
	if err != nil {
		return err
	}
	if p == nil { // removed in this moment
		return s.Tree.Documents().Unknown(r.scope(), belfry.DocPicture, name)
	}
	writeJSON(w, statusOf(result), pictureAnswer{result, pictureInfoOf(p)})
	return nil
}

// pictureWeight is how many times its length a picture takes in memory: it is copied into the record and the metadata.
const pictureWeight = 3

func imageBody(w *answer, r *request) ([]byte, error) {
	image, err := readWhole(w, r, engine.MaxPicture, pictureWeight)
	if belfry.CodeOf(err) == belfry.BodyTooLarge {
		return nil, belfry.Errorf(belfry.BodyTooLarge, "a picture may have %d bytes; make it smaller", engine.MaxPicture)
	}
	return image, err
}

func (s *Server) deletePicture(w *answer, r *request) error {
	return s.deleteDefinition(w, r, "picture", s.Engine.Definitions().DeletePicture)
}
