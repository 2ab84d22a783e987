// Works, but also writes other text to stdout: a coloured banner, log lines, binary data, the window title.
import { serve } from "../serve.mjs";

const noise = [
  "\u001b[1;32m✔ server ready\u001b[0m\r\n",
  "\u001b]0;owned\u0007\u001b[2J\u001b[H",
  "\n\n   \n",
  '{"level":"info","msg":"not for you"\n',
  "[1, 2, 3\n",
  Buffer.from([0, 1, 2, 0xff, 0xfe, 0x0a]),
  "Listening on stdio…\n",
];

for (const piece of noise) process.stdout.write(piece);
serve({}, (text) => process.stdout.write(`debug: saying ${text.length} characters\n\ufeff${text.trimEnd()}\r\n`));
