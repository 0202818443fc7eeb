package timing

// SeriesCodecs are codecs with several guarantees in both forms.
var SeriesCodecs = seriesCodecs

// SeriesBlocks returns what encodes and decodes blocks of a series, of any lengths.
func SeriesBlocks(c *SeriesCodec) (*seriesEncoder, func(block []byte, o Options) (*SeriesDecoder, error)) {
	return c.newEncoder(), func(block []byte, o Options) (*SeriesDecoder, error) { return c.newDecoder(block, nil, o) }
}
