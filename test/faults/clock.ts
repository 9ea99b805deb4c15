/**
 * A clock that tests set: time-outs come ten times as fast, and the time of day stands still until it is
 * set again, or goes ten times as fast, too. The app calls both through the globals, each time.
 */
const FASTER = 10;

const { setTimeout: plainSetTimeout } = globalThis;
const plainNow = Date.now;
let setAt = plainNow();
let now = setAt;
let speed = 0;

globalThis.setTimeout = ((callback: () => void, ms = 0) =>
  plainSetTimeout(callback, ms / FASTER)) as typeof setTimeout;
Date.now = () => now + (plainNow() - setAt) * speed;

/** Sets the time of day to the real one and so many milliseconds. */
export function setClock(ahead: number, runs: boolean): void {
  setAt = plainNow();
  now = setAt + ahead;
  speed = runs ? FASTER : 0;
}
