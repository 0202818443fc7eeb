// Numbers as people read them, as package internal/text writes them.

function significant(v) {
  return v >= 99.95 ? formatCount(v) : v.toFixed(v >= 9.995 ? 1 : 2);
}

function scaled(v, steps, units) {
  let i = 0;
  while (i < steps.length && Math.abs(v) >= steps[i] * 0.9995) v /= steps[i++];
  return [v, units[i]];
}

// formatTime writes nanoseconds.
function formatTime(ns) {
  const sign = ns < 0 ? '-' : '';
  const [v, unit] = scaled(Math.abs(ns), [1000, 1000, 1000], ['ns', 'µs', 'ms', 's']);
  return sign + (unit === 'ns' && v === Math.round(v) ? v.toFixed(0) : significant(v)) + ' ' + unit;
}

// formatBytes writes a number of bytes.
function formatBytes(n) {
  const [v, unit] = scaled(n, [1000, 1000, 1000, 1000, 1000, 1000], ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB']);
  return (unit === 'B' ? formatCount(v) : significant(v)) + ' ' + unit;
}

// formatPower writes a power of two of bytes: 64 B, 8 KiB.
function formatPower(n) {
  let i = 0;
  while (n >= 1024 && i < 6) [n, i] = [n / 1024, i + 1];
  return `${formatCount(n)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'][i]}`;
}

// formatSizes writes sizes from low to high, which are a class between powers of two, or
// the only one of it.
function formatSizes(low, high) {
  if (low === high) return formatCount(low) + ' B';
  if (high < 1024) return `${low}–${high} B`;
  const [a, unit] = formatPower(low).split(' '), [b, next] = formatPower(high + 1).split(' ');
  return unit === next ? `${a}–${b} ${unit}` : `${a} ${unit}–${b} ${next}`;
}

// formatCount writes an integer with commas between its thousands.
function formatCount(n) {
  if (n >= 2 ** 53) return '≈ ' + n.toExponential(3);
  return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

// formatBrief writes a number in little room: 12 k, 3.4 M.
function formatBrief(n) {
  const [v, unit] = scaled(n, [1000, 1000, 1000, 1000, 1000], ['', ' k', ' M', ' G', ' T', ' P']);
  return (v === Math.round(v) ? v.toFixed(0) : significant(v).replace(/\.?0+$/, '')) + unit;
}

// trimmed takes away zeros that say nothing: 2.00 ms is 2 ms on an axis.
function trimmed(text) { return text.replace(/(\.\d*?)0+(?=\D|$)/, '$1').replace(/\.(?=\D|$)/, ''); }

// timeAt writes a time with as many digits as a part of it, both in nanoseconds, takes.
function timeAt(ns, part) {
  const [unit, size] = ns >= 1e9 ? ['s', 1e9] : ns >= 1e6 ? ['ms', 1e6] : ns >= 1e3 ? ['µs', 1e3] : ['ns', 1];
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / Math.max(1, part)))));
  return `${formatGrouped((ns / size).toFixed(digits))} ${unit}`;
}

// axisFrom returns how times are written on an axis from low on, of which a width of
// nanoseconds is seen: label writes one, all in one unit and with as many digits as tell
// them apart. Where that would be long, labels count from a base, which is a text.
function axisFrom(low, width) {
  const units = [['ns', 1], ['µs', 1e3], ['ms', 1e6], ['s', 1e9]];
  let [unit, size] = units[0];
  for (const u of units) if (width >= u[1] * 2) [unit, size] = u;
  const digits = Math.max(0, Math.min(9, 2 - Math.floor(Math.log10(width / size))));
  const write = (v) => trimmed(formatGrouped((v / size).toFixed(digits))) + ' ' + unit;
  if (Math.abs(low + width) < 1000 * size || low < 9 * width) return { label: write, base: '' };
  const step = 10 ** Math.ceil(Math.log10(width)), base = Math.floor(low / step) * step;
  return { label: (v) => '+' + write(v - base), base: `+ counts from ${timeAt(base, step)}` };
}

// formatGrouped puts commas between the thousands of a number.
function formatGrouped(text) {
  const [whole, fraction] = text.split('.');
  return whole.replace(/\B(?=(\d{3})+$)/g, ',') + (fraction ? '.' + fraction : '');
}

// formatAxisCount writes a number of calls on an axis.
function formatAxisCount(v) { return v < 1e6 ? formatCount(v) : formatBrief(v); }
