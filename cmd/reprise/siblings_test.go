package main

import "testing"

// Communicators that stand for several count as so many where they are summed up.
func TestSumSiblings(t *testing.T) {
	rows := []matchedCommunicator{
		{Name: "world", Instances: 7},
		{Name: "world/0…8", Count: 5, Members: 2, Instances: 10},
		{Name: "world/1…7", Count: 4, Members: 2, Instances: 4},
		{Name: "world/9", Members: 2, Instances: 1},
	}
	if list := sumSiblings(rows, len(rows)); len(list) != len(rows) {
		t.Errorf("%d rows of %d", len(list), len(rows))
	}
	list := sumSiblings(rows, 2)
	if len(list) != 2 || list[1].Name != "world/*" || list[1].Count != 10 || list[1].Instances != 15 {
		t.Fatalf("%+v", list)
	}
	for want, c := range map[string]matchedCommunicator{"world": list[0], "world/*, 10 of them": list[1]} {
		if got := severalNamed(c.Name, c.Count); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
