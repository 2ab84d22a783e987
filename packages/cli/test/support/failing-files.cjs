/*
 * For `node --require`: makes the files of a process fail, as a full disk (ENOSPC), a read-only disk (EROFS) or a process
 * with too many open files (EMFILE) does. The variable TEST_FAILING_FILES says how, as JSON: `word` is an argument of the
 * process that is meant, `folder` has the files, `code` is the error, `from` the number of the first operation that fails
 * (the first one is 0), `times` how many fail. The file `notes` gets a line for each operation that failed. Nothing fails
 * once the file `over` exists.
 */
const fs = require("node:fs");
const net = require("node:net");

const { word, folder, code, from, times, notes, over } = JSON.parse(process.env.TEST_FAILING_FILES);
const errors = {
  ENOSPC: [-28, "no space left on device"],
  EROFS: [-30, "read-only file system"],
  EMFILE: [-24, "too many open files"],
};

/** What needs room on the disk, what else changes the disk, and what needs a file descriptor. */
const growing = ["mkdir", "mkdtemp", "link", "symlink", "writeFile", "appendFile", "copyFile"];
const changing = ["rename", "unlink", "rm", "rmdir", "chmod", "utimes", "truncate"];
const opening = ["readFile", "writeFile", "appendFile", "readdir", "opendir", "copyFile"];
const names = { ENOSPC: growing, EROFS: [...growing, ...changing], EMFILE: opening }[code];

let operations = 0;

function failureOf(syscall, path) {
  if (typeof path !== "string" || !path.startsWith(folder)) return undefined;
  operations += 1;
  if (operations <= from || operations > from + times || fs.existsSync(over)) return undefined;
  appendFile(notes, `${operations - 1} ${syscall} ${path.slice(folder.length)}\n`);
  const [errno, words] = errors[code];
  return Object.assign(new Error(`${code}: ${words}, ${syscall} '${path}'`), { errno, code, syscall, path });
}

const appendFile = fs.appendFileSync;

/** @param isMeant Whether a call with these arguments can fail. */
function fail(name, isMeant = () => true) {
  const sync = fs[`${name}Sync`];
  const later = fs[name];
  const promised = fs.promises[name];
  const failure = (args) => (isMeant(args) ? failureOf(name, args[0]) : undefined);
  fs[`${name}Sync`] = (...args) => {
    const error = failure(args);
    if (error) throw error;
    return sync(...args);
  };
  fs[name] = (...args) => {
    const error = failure(args);
    if (error) process.nextTick(args.at(-1), error);
    else later(...args);
  };
  fs.promises[name] = async (...args) => {
    const error = failure(args);
    if (error) throw error;
    return promised(...args);
  };
}

if (process.argv.includes(word)) {
  for (const name of names) fail(name);
  const isWriting = ([, flags = "r"]) => (typeof flags === "number" ? (flags & 3) !== 0 : !/^rs?$/.test(flags));
  fail("open", code === "EMFILE" ? undefined : isWriting);
  const listen = Reflect.get(net.Server.prototype, "listen");
  net.Server.prototype.listen = function (...args) {
    const error = failureOf("listen", args[0]?.path ?? args[0]);
    if (error === undefined) return listen.apply(this, args);
    process.nextTick(() => this.emit("error", error));
    return this;
  };
}
