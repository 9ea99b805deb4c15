/** Name of a key's record in KV, as the baseline reads it: that there is one makes the read a whole one. */
export const KEY_RECORD = 'key:baseline';
