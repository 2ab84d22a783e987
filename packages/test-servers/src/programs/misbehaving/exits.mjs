// Writes its second argument to stderr, then exits with the code in its first argument.
const [code, words] = process.argv.slice(2);
process.stderr.write(`${words}\n`, () => process.exit(Number(code)));
