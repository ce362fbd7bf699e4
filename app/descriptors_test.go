package app

import "testing"

func TestDivideDescriptors(t *testing.T) {
	f := func(limit uint64, want descriptors) {
		t.Helper()
		got, err := divide(limit, 10_000)
		if err != nil || got != want {
			t.Errorf("%d: %+v, %v", limit, got, err)
		}
		if sum := baseDescriptors + got.connections + got.waiting + got.streams + 2*got.files; uint64(sum) > limit {
			t.Errorf("%d: %d are given away", limit, sum)
		}
	}
	f(200, descriptors{connections: 27, waiting: 5, streams: 12, files: 22})
	f(256, descriptors{connections: 45, waiting: 9, streams: 18, files: 36})
	f(1024, descriptors{connections: 285, waiting: 57, streams: 114, files: 228})
	f(1<<20, descriptors{connections: 10_000, waiting: 512, streams: 1<<20 - 14_624, files: 2000})
	if _, err := divide(199, 10_000); err == nil || err.Error() != "the process may open 199 files and needs at least 200; raise the limit (ulimit -n, LimitNOFILE of a systemd unit)" {
		t.Error(err)
	}
}
