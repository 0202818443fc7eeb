package perfetto

import "google.golang.org/protobuf/encoding/protowire"

// Numbers of fields.
const (
	tracePacket protowire.Number = 1

	packetClocks          protowire.Number = 6
	packetTimestamp       protowire.Number = 8
	packetSequence        protowire.Number = 10
	packetTrackEvent      protowire.Number = 11
	packetInternedData    protowire.Number = 12
	packetSequenceFlags   protowire.Number = 13
	packetDefaults        protowire.Number = 59
	packetTrackDescriptor protowire.Number = 60

	defaultsTrackEvent     protowire.Number = 11
	trackEventDefaultTrack protowire.Number = 11

	descriptorUUID     protowire.Number = 1
	descriptorName     protowire.Number = 2
	descriptorProcess  protowire.Number = 3
	descriptorParent   protowire.Number = 5
	descriptorOrdering protowire.Number = 11
	descriptorOrder    protowire.Number = 12

	processPID   protowire.Number = 1
	processName  protowire.Number = 6
	processLabel protowire.Number = 8

	eventCategory   protowire.Number = 3
	eventAnnotation protowire.Number = 4
	eventType       protowire.Number = 9
	eventName       protowire.Number = 10
	eventTrack      protowire.Number = 11
	eventNameText   protowire.Number = 23
	eventFlow       protowire.Number = 47

	annotationName     protowire.Number = 1
	annotationText     protowire.Number = 6
	annotationUint     protowire.Number = 3
	annotationInt      protowire.Number = 4
	annotationDouble   protowire.Number = 5
	annotationNameText protowire.Number = 10
	annotationString   protowire.Number = 17

	internedCategory       protowire.Number = 1
	internedEventName      protowire.Number = 2
	internedAnnotationName protowire.Number = 3
	internedText           protowire.Number = 29

	internedID   protowire.Number = 1
	internedName protowire.Number = 2

	clocksClock protowire.Number = 1
	clockID     protowire.Number = 1
	clockTime   protowire.Number = 2
)

// Values of fields.
const (
	sliceBegin = 1
	sliceEnd   = 2
	instant    = 3

	realTime  = 1 // since 1970
	traceTime = 6 // that of timestamps

	orderExplicit = 3

	stateCleared = 1 // what was interned before does not count
	stateNeeded  = 2
)

func appendNumber(dst []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, field, protowire.VarintType), v)
}

func appendBytes(dst []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, field, protowire.BytesType), v)
}

func appendString(dst []byte, field protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(dst, field, protowire.BytesType), v)
}
