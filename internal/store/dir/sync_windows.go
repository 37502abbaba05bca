package dir

// syncFolder does nothing: Windows has no call that syncs a folder, and NTFS
// journals its entries.
func syncFolder(string) error { return nil }
