export { scaled, seed } from "./scale.ts";
export { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";
