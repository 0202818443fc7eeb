package timing

// SeriesCodecs are codecs with several guarantees in both forms.
var SeriesCodecs = seriesCodecs
