/**
 * A clock that tests set: time-outs come twenty times as fast, and the time of day stands still until
 * it is set again. The app calls both through the globals, each time.
 */
const FASTER = 20;

const { setTimeout: plainSetTimeout } = globalThis;
const plainNow = Date.now;
let now = plainNow();

globalThis.setTimeout = ((callback: () => void, ms = 0) =>
  plainSetTimeout(callback, ms / FASTER)) as typeof setTimeout;
Date.now = () => now;

/** Sets the time of day to the real one and so many milliseconds. */
export function setClock(ahead: number): void {
  now = plainNow() + ahead;
}
