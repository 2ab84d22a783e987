// Works after it has written 2 MB to stderr.
import { serve } from "../serve.mjs";

const line = `${"all work and no play ".repeat(5)}\n`;
const lines = Math.ceil((2 * 1024 * 1024) / line.length);
process.stderr.write(line.repeat(lines), () => serve());
