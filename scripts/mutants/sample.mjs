// Chooses the mutants to try, and reports the outcomes.

/**
 * Returns the group of a file: `core/policy` for packages/core/src/policy/…. A file outside these folders belongs to
 * its package.
 */
export function folderOf(file, depth = 2) {
  const [, name, , ...rest] = file.split("/");
  return [name, ...rest.slice(0, -1)].slice(0, depth).join("/");
}

/**
 * Returns the mutants of these folders and places; all if none is named. Also returns the folders and places without
 * any mutant.
 */
export function mutantsAt(all, { folder = [], at = [] }) {
  const isInFolder = (mutant, name) => folderOf(mutant.file, name.split("/").length) === name;
  const isAt = (mutant, place) => [mutant.file, `${mutant.file}:${mutant.line}`].includes(`packages/${place}`);
  const ofFolders = all.filter((mutant) => folder.length === 0 || folder.some((name) => isInFolder(mutant, name)));
  return {
    mutants: ofFolders.filter((mutant) => at.length === 0 || at.some((place) => isAt(mutant, place))),
    missing: [
      ...folder.filter((name) => !all.some((mutant) => isInFolder(mutant, name))),
      ...at.filter((place) => !ofFolders.some((mutant) => isAt(mutant, place))),
    ],
  };
}

/** Returns the mutants that an earlier run listed. They are found by file and change, because lines may have moved. */
export function findAgain(listed, all) {
  const isSame = (one, other) => ["file", "kind", "original", "replacement"].every((key) => one[key] === other[key]);
  const found = listed.flatMap((earlier) => {
    const [nearest] = all
      .filter((mutant) => isSame(mutant, earlier))
      .sort((one, other) => Math.abs(one.line - earlier.line) - Math.abs(other.line - earlier.line));
    return nearest === undefined ? [] : [nearest];
  });
  return [...new Set(found)];
}

/** Chooses mutants. The same seed and the same sources give the same mutants. */
export function sampled(all, count, seed) {
  const random = generator(seed);
  const pool = [...all];
  const chosen = [];
  while (chosen.length < count && pool.length > 0) {
    const index = Math.floor(random() * pool.length);
    chosen.push(pool[index]);
    pool[index] = pool.at(-1);
    pool.pop();
  }
  return chosen;
}

/** Returns the report: how many mutants were killed in each folder, then every survivor. */
export function summary(results) {
  const folders = grouped(results);
  const lines = [...folders.keys()]
    .toSorted((one, other) => one.localeCompare(other))
    .map((name) => row(name, folders.get(name)));
  const survivors = results.filter(({ state }) => state === "survived");
  const list = survivors.map(
    ({ file, line, original, replacement }) => `\n${file}:${line}\n- ${original}\n+ ${replacement}\n`,
  );
  return `\n${lines.join("\n")}\n${row("all", results)}\n${list.join("")}`;
}

function row(name, mutants) {
  const of = (state) => mutants.filter((mutant) => mutant.state === state).length;
  const score = (100 * (mutants.length - of("survived"))) / Math.max(mutants.length, 1);
  return `${name.padEnd(24)} ${score.toFixed(0).padStart(3)} %: ${of("killed")} killed, ${of("timeout")} timed out, ${of("survived")} survived`;
}

function grouped(results) {
  const folders = new Map();
  for (const result of results) {
    const folder = folderOf(result.file);
    folders.set(folder, [...(folders.get(folder) ?? []), result]);
  }
  return folders;
}

/** A small random number generator (Mulberry32). */
function generator(seed) {
  let state = [...seed].reduce((sum, character) => Math.imul(sum, 31) + character.codePointAt(0), 7);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
