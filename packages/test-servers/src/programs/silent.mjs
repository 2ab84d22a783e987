// Reads all input and never answers. If it has an argument, prints it, which is no valid message.
const words = process.argv.slice(2).join(" ");
process.stdin.resume();
if (words !== "") process.stdout.write(`${words}\n`);
