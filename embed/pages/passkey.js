"use strict";
// Asks the browser for a passkey, or for a new one, before its form is sent. The field has the options, and
// then the response.
(() => {
  const progress = document.getElementById("progress");
  const form = progress.closest("form");
  const button = form.querySelector("button");
  const field = form.elements.credential;
  const options = JSON.parse(field.value);

  const say = (text, kind, busy) => {
    progress.textContent = text;
    progress.className = kind;
    button.disabled = busy;
  };
  const ask = () =>
    options.user
      ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
      : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    say(progress.dataset.wait, "soft", true);
    try {
      field.value = JSON.stringify((await ask()).toJSON());
      form.submit();
    } catch {
      say(progress.dataset.failed, "fault", false);
    }
  });
  addEventListener("pageshow", () => say("", "soft", false)); // also when the browser goes back to this page
})();
