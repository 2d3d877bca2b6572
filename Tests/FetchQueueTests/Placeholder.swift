// The tests of this part follow.
