// Benchmarks: `npm run bench` runs all, `npm run bench -- start` one. Ratios side by side in one run; never part of the tests.
const benches = { start: () => import("./start.mjs"), list: () => import("./list.mjs") };

const names = process.argv.slice(2);
for (const name of names.length > 0 ? names : Object.keys(benches)) {
  const load = benches[name];
  if (load === undefined) {
    process.stderr.write(`there is no benchmark "${name}"; known: ${Object.keys(benches).join(", ")}\n`);
    process.exitCode = 2;
  } else {
    const { bench } = await load();
    if (!(await bench())) process.exitCode = 1;
  }
}
