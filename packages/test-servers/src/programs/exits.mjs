// Complains and goes: the first argument is its exit code, the second its last words.
const [code, words] = process.argv.slice(2);
process.stderr.write(`${words}\n`, () => process.exit(Number(code)));
