/** What the command and the gateway use of recordings of servers. */

export { createPlayer, type Player } from "../recordings/player.ts";
export { createRecorder, type Recorder } from "../recordings/recorder.ts";
export { headerLine, readRecording } from "../recordings/recording.ts";
