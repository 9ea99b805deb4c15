export function sha256(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
}

export async function sha256Hex(text: string): Promise<string> {
  const hash = await sha256(text);
  // Not `toHex`, which Node.js 22 and 24 lack, where `npm run keys` may run.
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
