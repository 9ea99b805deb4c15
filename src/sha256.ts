/** SHA-256 of a text (in UTF-8), in lower-case hex. */
export async function sha256(text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return new Uint8Array(hash).toHex();
}
