package app

import "testing"

func TestDivideDescriptors(t *testing.T) {
	f := func(limit uint64, want descriptors) {
		t.Helper()
		got, err := divide(limit, 10_000)
		if err != nil || got != want {
			t.Errorf("%d: %+v, %v", limit, got, err)
		}
		if sum := baseDescriptors + got.connections + got.streams + 2*got.files; uint64(sum) > limit {
			t.Errorf("%d: %d are given away", limit, sum)
		}
	}
	f(200, descriptors{connections: 33, streams: 11, files: 22})
	f(256, descriptors{connections: 54, streams: 18, files: 36})
	f(1024, descriptors{connections: 342, streams: 114, files: 228})
	f(1<<20, descriptors{connections: 10_000, streams: 1<<20 - 14_112, files: 2000})
	if _, err := divide(199, 10_000); err == nil || err.Error() != "the process may have 199 files open, and at least 200 are needed; raise the limit (ulimit -n, LimitNOFILE of a systemd unit)" {
		t.Error(err)
	}
}
