// The screen beside the till: sound, what came while the connection was lost, and ages. Without scripts it reloads itself.
(() => {
  const box = document.querySelector('#arrivals');
  const record = document.querySelector('#record.newest');
  const button = document.querySelector('#sound');
  if (!box && !record) return;

  let audio = null;
  let isOn = localStorage.getItem('sound') === 'on';
  const isReady = () => audio !== null && audio.state === 'running';

  // A browser plays nothing before the first tap.
  async function unlock() {
    if (!isOn) return;
    audio ??= new AudioContext();
    await audio.resume();
    showSound();
  }

  function showSound() {
    if (!button) return;
    button.hidden = false;
    button.setAttribute('aria-pressed', String(isOn));
    const whenOn = isReady() ? 'Sound on' : 'Tap for sound';
    button.textContent = isOn ? whenOn : 'Sound off';
  }

  // Two short tones, up: heard over a market, and unlike a phone's own.
  function beep() {
    document.body.dataset.beeps = Number(document.body.dataset.beeps ?? 0) + 1;
    if (!isOn || !isReady()) return;
    for (const [index, frequency] of [880, 1320].entries()) {
      const [tone, volume] = [audio.createOscillator(), audio.createGain()];
      const start = audio.currentTime + index * 0.16;
      tone.frequency.value = frequency;
      volume.gain.setValueAtTime(0.4, start);
      volume.gain.exponentialRampToValueAtTime(0.001, start + 0.15);
      tone.connect(volume).connect(audio.destination);
      tone.start(start);
      tone.stop(start + 0.16);
    }
  }

  button?.addEventListener('click', (event) => {
    event.stopPropagation();
    isOn = !isOn || !isReady();
    localStorage.setItem('sound', isOn ? 'on' : 'off');
    if (isOn) void unlock().then(beep);
    showSound();
  });
  document.addEventListener('click', () => void unlock());
  showSound();

  const paymentsIn = (element) => Array.from(element.querySelectorAll('[data-payment]'));
  let wasLost = false;
  let timer = 0;
  document.addEventListener('live:back', () => {
    wasLost = true;
    clearTimeout(timer);
    timer = setTimeout(() => (wasLost = false), 5000);
  });

  document.addEventListener('arrivals', ({ detail }) => {
    const isBack = wasLost || document.body.classList.contains('is-lost');
    const known = new Set(paymentsIn(box).map((each) => each.dataset.payment));
    box.innerHTML = detail.data;
    shownAt = performance.now();
    const fresh = paymentsIn(box).filter((each) => !known.has(each.dataset.payment));
    for (const each of fresh) each.classList.add('is-new');
    const note = document.querySelector('#meanwhile');
    note.hidden = !isBack || fresh.length === 0;
    if (!note.hidden) note.textContent = 'Back: ' + fresh.length + ' came meanwhile, marked below.';
    wasLost = false;
    if (fresh.length > 0) beep();
  });

  // One sound when the amount that was entered is paid.
  if (record && !record.querySelector('.state.good')) {
    document.addEventListener('htmx:after:swap', () => {
      if (document.querySelector('#record .state.good')) beep();
    });
  }

  let shownAt = performance.now();
  setInterval(() => {
    const age = document.querySelector('[data-age-ms]');
    if (!age) return;
    const seconds = Math.floor((Number(age.dataset.ageMs) + performance.now() - shownAt) / 1000);
    const minutes = Math.floor(seconds / 60);
    const text = minutes === 0 ? seconds + ' seconds ago' : minutes + ' min ago';
    age.textContent = minutes < 60 ? text : '';
  }, 1000);
})();
