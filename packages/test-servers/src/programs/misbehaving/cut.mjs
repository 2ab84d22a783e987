// Works, but exits in the middle of its output, after as many bytes as its argument says.
import { serve } from "../serve.mjs";

let left = Number(process.argv[2]);
const die = () => process.exit(9);

if (left === 0) die();
serve({}, (text) => {
  // Later output is dropped: the program only waits until the pipe has taken the last bytes, and then exits.
  if (left === 0) return;
  const said = Buffer.from(text).subarray(0, left);
  left -= said.length;
  process.stdout.write(said, left === 0 ? die : undefined);
});
