// Colours of functions: those of MPI by what they do, others by their names, so that a
// function has the same colour in all reports.

const families = [ // hue, saturation, of functions by their names; the first that fits; and those that are told apart
  [/^MPI_(Init|Finalize)/, 38, 24, ['MPI_Init', 'MPI_Finalize', 'MPI_Init_thread']],
  [/^MPI_(Comm_|Group_|Cart|Type_|Info_|Attr|Dims|Topo|Errhandler|Op_|Get_|Session|Pcontrol|Wtime)/, 205, 13, ['MPI_Comm_rank', 'MPI_Comm_size', 'MPI_Comm_split']],
  [/^MPI_I?(Barrier)/, 50, 72, ['MPI_Barrier', 'MPI_Ibarrier']],
  [/^MPI_(Wait|Test|Request)/, 2, 64, ['MPI_Waitall', 'MPI_Wait', 'MPI_Waitany', 'MPI_Waitsome', 'MPI_Test', 'MPI_Testall']],
  [/^MPI_(Sendrecv|Isendrecv)/, 178, 58, ['MPI_Sendrecv', 'MPI_Sendrecv_replace']],
  [/^MPI_(I?[bsr]?send|Psend|[BSR]?send_init|Start|Pready)/i, 214, 64, ['MPI_Send', 'MPI_Isend', 'MPI_Start', 'MPI_Startall', 'MPI_Ssend', 'MPI_Rsend']],
  [/^MPI_(I?m?recv|Precv|Parrived|I?m?probe)/i, 140, 46, ['MPI_Recv', 'MPI_Irecv', 'MPI_Iprobe', 'MPI_Probe', 'MPI_Mrecv', 'MPI_Improbe']],
  [/^MPI_I?(All|Reduce|Scan|Exscan)/i, 276, 46, ['MPI_Allreduce', 'MPI_Reduce', 'MPI_Alltoall', 'MPI_Allgather', 'MPI_Alltoallv', 'MPI_Scan']],
  [/^MPI_I?(Bcast|Gather|Scatter|Neighbor)/i, 324, 50, ['MPI_Bcast', 'MPI_Gather', 'MPI_Scatter', 'MPI_Gatherv', 'MPI_Scatterv']],
  [/^MPI_File/, 88, 50, ['MPI_File_write', 'MPI_File_read', 'MPI_File_open']],
  [/^MPI_(Win|R?Put|R?Get|R?Accumulate|Fetch|Compare)/, 22, 82, ['MPI_Win_fence', 'MPI_Put', 'MPI_Get', 'MPI_Accumulate', 'MPI_Win_wait']],
];

// What members of a family differ in: lightness, hue and, as a factor, saturation.
const variants = [[0, 0, 1], [-16, 6, 1.15], [15, -8, 1], [4, 16, 0.45], [25, 6, 0.8], [-24, -12, 0.7]];

function hashOf(name) {
  let h = 2166136261;
  for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 16777619) >>> 0;
  return h;
}

// hsl returns a colour of a hue in degrees, a saturation and a lightness in per cent.
function hsl(hue, saturation, light) {
  return `hsl(${Math.round((hue + 360) % 360)}, ${Math.round(Math.min(100, saturation))}%, ${Math.round(light)}%)`;
}

// standing returns the function of MPI that another stands for, such as recv in traces of SimGrid.
function standing(name) {
  const mpi = `MPI_${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return families.some(([, , , known]) => known.includes(mpi)) ? mpi : name;
}

// colorOf returns the colour of a function, on a dark ground or a light one.
function colorOf(called, dark) {
  const name = standing(called), h = hashOf(name), family = families.find(([pattern]) => pattern.test(name)), light = dark ? 58 : 46;
  if (!family) return hsl(h % 360, 48, light + [-8, -4, 0, 5, 10][(h >>> 8) % 5]);
  const [, hue, saturation, known] = family, i = known.indexOf(name), v = variants[i >= 0 ? i : known.length <= 2 ? 2 + h % 4 : h % variants.length];
  return hsl(hue + v[1] + (i >= 0 ? 0 : h % 9 - 4), saturation * v[2], light + v[0] * (dark ? 0.9 : 1) + (i >= 0 ? 0 : (h >>> 8) % 7 - 3));
}

// brightness returns the relative luminance of a colour that hsl returns, from 0 to 1.
function brightness(color) {
  const [h, s, l] = color.match(/[\d.]+/g).map(Number), a = s / 100 * Math.min(l / 100, 1 - l / 100);
  const channel = (n) => {
    const k = (n + h / 30) % 12, v = l / 100 - a * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(0) + 0.7152 * channel(8) + 0.0722 * channel(4);
}

// inkOn returns the colour of text on a colour that hsl returns, black or white: whichever stands out more. The
// contrast is 4.5 at least.
function inkOn(color) {
  const y = brightness(color);
  return (1.05) / (y + 0.05) >= (y + 0.05) / 0.05 ? '#ffffff' : '#000000';
}
