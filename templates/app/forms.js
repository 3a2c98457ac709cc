// What is typed in a form is not lost.

/** Sends what a form says. The form stays until the server took it, so that it can be changed if it is refused. */
export async function sendForm(state, actions, ops, options = {}) {
  const { form } = state;
  if (!form || form.isSent) return; // a second click
  form.isSent = true;
  const taken = () => {
    if (state.form === form) state.form = null;
    actions.show();
  };
  await actions.edit(ops, { ...options, taken });
  form.isSent = false;
}

/** The text of a file. Bytes that are not UTF-8 are refused: read otherwise, letters would be destroyed. */
export async function textOf(file, refused) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch (error) {
    throw error instanceof TypeError ? new Error(refused) : error;
  }
}
