package api

import (
	"mime"
	"strconv"
	"strings"
)

const (
	mediaJSON     = "application/json"
	mediaProtobuf = "application/x-protobuf"
)

// negotiate picks the offered media type that the Accept headers like best; the
// first offer when they like several alike or say nothing. The most specific
// range that fits an offer decides about it.
func negotiate(accept []string, offers ...string) (string, bool) {
	header := strings.TrimSpace(strings.Join(accept, ","))
	if header == "" {
		return offers[0], true
	}
	best, bestQuality := "", 0.0
	for _, offer := range offers {
		if q := quality(header, offer); q > bestQuality {
			best, bestQuality = offer, q
		}
	}
	return best, bestQuality > 0
}

func quality(header, offer string) float64 {
	kind, _, _ := strings.Cut(offer, "/")
	q, specific := 0.0, -1
	for part := range strings.SplitSeq(header, ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		rank := -1
		switch media {
		case offer:
			rank = 2
		case kind + "/*":
			rank = 1
		case "*/*":
			rank = 0
		}
		if rank <= specific {
			continue
		}
		specific, q = rank, 1
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil || q < 0 || q > 1 {
				q = 0
			}
		}
	}
	return q
}
