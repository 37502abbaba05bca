// Package kubernetes checks deploy/kubernetes without a cluster: that kustomize and
// helm render it, that an API server takes every object, that both render the same,
// that the parts of it fit together, and that the collectors take their
// configuration and do with it what the manifests are for.
//
// It is a module of its own, so that what it needs for that stays out of the product's.
package kubernetes
