/** SHA-256 of a text (in UTF-8). */
export function sha256(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
}

/** SHA-256 of a text (in UTF-8), in lower-case hex. */
export async function sha256Hex(text: string): Promise<string> {
  const hash = await sha256(text);
  // Not `Uint8Array.prototype.toHex`, which Node.js 22 and 24 lack: `npm run keys` runs in the user's Node.js where package.json has
  // none for the platform.
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
