"use strict";
// Solves the challenge of a registration before its form is sent: finds the number whose SHA-256 with the salt
// is the challenge. SHA-256 is implemented here since browsers offer it only over HTTPS.
(() => {
  const progress = document.getElementById("progress");
  const form = progress.closest("form");
  const button = form.querySelector("button");

  const primes = (n) => {
    const all = [];
    for (let p = 2; all.length < n; p++) if (all.every((q) => p % q)) all.push(p);
    return all;
  };
  const fraction = (x) => ((x - Math.floor(x)) * 4294967296) | 0;
  const K = Int32Array.from(primes(64), (p) => fraction(Math.cbrt(p)));
  const H = Int32Array.from(primes(8), (p) => fraction(Math.sqrt(p)));
  const W = new Int32Array(64);

  // block adds a block of 64 bytes to the state.
  const block = (state, bytes, at) => {
    for (let i = 0; i < 16; i++) {
      const j = at + 4 * i;
      W[i] = (bytes[j] << 24) | (bytes[j + 1] << 16) | (bytes[j + 2] << 8) | bytes[j + 3];
    }
    for (let i = 16; i < 64; i++) {
      const x = W[i - 15], y = W[i - 2];
      const s = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const t = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      W[i] = (W[i - 16] + s + W[i - 7] + t) | 0;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const s = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t = (h + s + ((e & f) ^ (~e & g)) + K[i] + W[i]) | 0;
      const u = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const v = (u + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g; g = f; f = e; e = (d + t) | 0; d = c; c = b; b = a; a = (t + v) | 0;
    }
    state[0] += a; state[1] += b; state[2] += c; state[3] += d; state[4] += e; state[5] += f; state[6] += g; state[7] += h;
  };

  // sha256 returns the hash of a text of ASCII characters in hexadecimal.
  const sha256 = (text) => {
    const bytes = new Uint8Array((Math.floor((text.length + 8) / 64) + 1) * 64);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    bytes[text.length] = 128;
    new DataView(bytes.buffer).setUint32(bytes.length - 4, 8 * text.length);
    const state = H.slice();
    for (let at = 0; at < bytes.length; at += 64) block(state, bytes, at);
    return Array.from(state, (x) => (x >>> 0).toString(16).padStart(8, "0")).join("");
  };

  // solve looks for the number, with pauses in which the page can react.
  const solve = async ({ challenge, salt, maxnumber }) => {
    for (let n = 0; n <= maxnumber; n++) {
      if (sha256(salt + n) === challenge) return n;
      if (n % 2000 === 1999) await new Promise((done) => setTimeout(done));
    }
    throw new Error("no solution");
  };

  const busy = (text) => {
    progress.textContent = text;
    progress.className = "soft";
    button.disabled = text !== "";
  };
  const fail = (text) => {
    progress.textContent = text.charAt(0).toUpperCase() + text.slice(1);
    progress.className = "fault";
    button.disabled = false;
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    busy(progress.dataset.wait);
    try {
      const response = await fetch("../api/challenge", { credentials: "omit", cache: "no-store" });
      const made = await response.json();
      if (response.status === 403) return form.submit(); // no challenge is needed any more, or the registration was closed
      if (!response.ok) return fail(made.msg);
      const { algorithm, challenge, salt, signature } = made;
      form.elements.altcha.value = btoa(JSON.stringify({ algorithm, challenge, number: await solve(made), salt, signature }));
      form.submit();
    } catch {
      fail(progress.dataset.failed);
    }
  });
  addEventListener("pageshow", () => busy("")); // also when the browser goes back to this page
})();
