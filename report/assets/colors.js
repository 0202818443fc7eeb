// Colours of functions: those of MPI by what they do, others by their names, so that a
// function has the same colour in all reports.

const families = [ // hue, saturation, of functions by their names; the first that fits
  [/^MPI_(Init|Finalize|Comm_|Group_|Cart|Type_|Info_|Attr|Dims|Topo|Errhandler|Op_|Get_|Session)/, 30, 8],
  [/^MPI_I?(Barrier)/, 52, 70],
  [/^MPI_(Wait|Test|Request)/, 2, 62],
  [/^MPI_(I?[bsr]?send|Psend|[BSR]?send_init|Start|Pready)/i, 214, 62],
  [/^MPI_(I?m?recv|Precv|Parrived|I?m?probe)/i, 140, 45],
  [/^MPI_(Sendrecv|Isendrecv)/, 178, 55],
  [/^MPI_I?(All|Reduce|Scan|Exscan)/i, 278, 45],
  [/^MPI_I?(Bcast|Gather|Scatter|Neighbor)/i, 322, 48],
  [/^MPI_File/, 88, 50],
  [/^MPI_(Win|R?Put|R?Get|R?Accumulate|Fetch|Compare)/, 24, 68],
];

function hashOf(name) {
  let h = 2166136261;
  for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 16777619) >>> 0;
  return h;
}

// colorOf returns the colour of a function, on a dark ground or a light one.
function colorOf(name, dark) {
  const h = hashOf(name), family = families.find(([pattern]) => pattern.test(name));
  const [hue, saturation] = family ? [family[1] + (h % 15) - 7, family[2]] : [h % 360, 48];
  const light = (dark ? 56 : 46) + [-8, -4, 0, 5, 10][(h >>> 8) % 5];
  return `hsl(${hue}, ${saturation}%, ${light}%)`;
}
