// Reads everything and never answers; says what its argument tells, if it has one, and that is no message.
const words = process.argv.slice(2).join(" ");
process.stdin.resume();
if (words !== "") process.stdout.write(`${words}\n`);
