// Writes to stdout without end, but never a message, for example like a build in watch mode.
process.stdin.resume();
// It continues even if the pipe is closed.
process.stdout.on("error", () => {});
for (let line = 1; line <= 5_000; line += 1)
  process.stdout.write(`\u001b[31mcompiling ${line}\u001b[0m \u202egnp.exe\n`);
