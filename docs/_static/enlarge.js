// A tap or click on a figure shows it as large as the window; another one, or Escape, closes it.
document.querySelectorAll(".bd-article img:not(a img):not(.badge):not(.sd-card-img-top)").forEach((image) => {
  image.tabIndex = 0;
  image.setAttribute("role", "button");
  const open = () => {
    const dialog = document.createElement("dialog");
    dialog.className = "enlarged";
    dialog.setAttribute("aria-label", image.alt || "figure");
    dialog.append(image.cloneNode());
    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  };
  image.addEventListener("click", open);
  image.addEventListener("keydown", (event) => event.key === "Enter" && open());
});
