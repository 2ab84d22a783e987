/** What the command and the gateway use of reading and writing files. */

export { type HeldLock, tryLock, withLock } from "../files/atomic/lock.ts";
export { lockHolder } from "../files/atomic/lock-owner.ts";
export { ensurePrivateFolder, keepPrivate, makeFolder, privateFileMode } from "../files/atomic/private-folder.ts";
export { createFile, replaceFile } from "../files/atomic/replace-file.ts";
export { readState, updateState } from "../files/atomic/state-file.ts";
export { updateText } from "../files/atomic/update-text.ts";
export { removeValue, setValue } from "../files/json/json-edit.ts";
export { type JsoncDocument, type Position, parseJsonc } from "../files/json/jsonc.ts";
export { readText } from "../files/read-text.ts";
export { findWritableFile, isInside, realPathOf } from "../files/real-path.ts";
export { keepResult, removeResults } from "../files/result-files.ts";
export { isProcessRunning, startTimeOf } from "../files/running-process.ts";
export { openSecretStore, type SecretStore } from "../files/secrets/secret-store.ts";
export { explain, notRead, notWritten, systemCode, toWriteError, unless } from "../files/system-error.ts";
export {
  keyWords,
  type TextRange,
  type TomlText,
  tomlParser,
  tomlTable,
  wholeLines,
  withoutLines,
  withTable,
} from "../files/toml-edit.ts";
export { findUnsafeFolder, type UnsafeFolder } from "../files/unsafe-folder.ts";
