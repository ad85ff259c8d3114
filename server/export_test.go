package server

// The parts of the seed data that the tests of the console's texts read.
type (
	MenuPlace = menuPlace
	Names     = names
)
