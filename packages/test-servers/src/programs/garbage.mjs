// Talks on stdout without end and never says a message: a build that runs in watch mode, say.
process.stdin.resume();
// Nobody may be listening any more; it goes on all the same.
process.stdout.on("error", () => {});
for (let line = 1; line <= 5_000; line += 1)
  process.stdout.write(`\u001b[31mcompiling ${line}\u001b[0m \u202egnp.exe\n`);
