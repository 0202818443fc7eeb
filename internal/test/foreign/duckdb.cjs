// Runs a query with the DuckDB in a directory, and prints the names and types of the
// columns, and then a line for each row, as JSON: values as text, or null.
const [, , directory, query] = process.argv;
const { DuckDBInstance } = require(directory);

const text = (v) => (v === null ? null : Object.is(v, -0) ? '-0' : String(v));

async function main() {
  const instance = await DuckDBInstance.create(':memory:');
  const result = await (await instance.connect()).stream(query);
  let lines = [JSON.stringify({ Names: result.columnNames(), Types: result.columnTypes().map(String) })];
  const print = () => new Promise((done) => process.stdout.write(lines.join('\n') + '\n', done));
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    for (const row of chunk.getRows()) lines.push(JSON.stringify(row.map(text)));
    await print();
    lines = [];
  }
  if (lines.length > 0) await print();
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
