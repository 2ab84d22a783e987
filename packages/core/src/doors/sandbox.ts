/** What the command uses of sandboxes. Loaded late: most commands need none of it. */

export { settingsFolders } from "../host/connect-context.ts";
export { type BoxContents, boxContents, openBox, type SandboxContext } from "../sandbox/box.ts";
