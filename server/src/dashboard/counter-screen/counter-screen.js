// The screen beside the till: sound, what came while the connection was lost, and ages. Without scripts it reloads itself.
(() => {
  const box = document.querySelector('#arrivals');
  const record = document.querySelector('#record .newest');
  const button = document.querySelector('#sound');
  const announced = document.querySelector('#announced');
  if (!box && !record) return;

  let audio = null;
  let isOn = localStorage.getItem('sound') !== 'off';
  const isReady = () => audio !== null && audio.state === 'running';

  // A browser plays nothing before the first tap, except for an app that was installed.
  async function unlock() {
    if (!isOn) return;
    if (!audio) {
      audio = new AudioContext();
      // A tablet that slept, or whose sound went to a call, plays nothing until somebody taps again.
      audio.onstatechange = showSound;
    }
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
  void unlock();

  // The tablet stays on while it shows the screen; where it may not, it sleeps as it does.
  function stayOn() {
    if (!document.hidden) void navigator['wakeLock']?.request('screen').catch(() => {});
  }
  document.addEventListener('visibilitychange', stayOn);
  stayOn();

  const paymentsIn = (element) => Array.from(element.querySelectorAll('[data-payment]'));
  let wasLost = false;
  let timer = 0;
  document.addEventListener('live:back', () => {
    wasLost = true;
    clearTimeout(timer);
    timer = setTimeout(() => (wasLost = false), 5000);
  });

  // What came while the connection was lost stays marked until somebody says that they have seen it.
  const note = document.querySelector('#meanwhile');
  let missed = new Set();
  let hasMore = false;
  note?.querySelector('button').addEventListener('click', () => {
    missed = new Set();
    hasMore = false;
    note.hidden = true;
    for (const each of box.querySelectorAll('.is-new')) each.classList.remove('is-new');
  });

  function showMissed() {
    const count = hasMore ? missed.size + ' or more' : missed.size;
    const text =
      missed.size === 0 ? 'Back. Nothing came meanwhile.' : 'Back: ' + count + ' came meanwhile, marked below.';
    note.hidden = false;
    note.querySelector('[role=status]').textContent = text;
  }

  document.addEventListener('arrivals', ({ detail }) => {
    const isBack = wasLost || document.body.classList.contains('is-lost');
    wasLost = false;
    const known = new Set(paymentsIn(box).map((each) => each.dataset.payment));
    box.innerHTML = detail.data;
    sinceShownMs = stopwatch();
    const freshRows = paymentsIn(box).filter((each) => !known.has(each.dataset.payment));
    const fresh = freshRows.map((each) => each.dataset.payment);
    if (isBack) {
      for (const payment of fresh) missed.add(payment);
      // Nothing that was here before is shown any more, so there may be others between.
      hasMore ||= fresh.length === Number(box.dataset.most);
    }
    for (const each of paymentsIn(box)) {
      const payment = each.dataset.payment;
      each.classList.toggle('is-new', missed.has(payment) || fresh.includes(payment));
    }
    if (isBack || missed.size > 0) showMissed();
    else note.hidden = true;
    showAge();
    if (fresh.length === 0) return;
    beep();
    // For whoever hears the screen instead of seeing it; what came meanwhile is said above.
    if (!isBack) announced.textContent = freshRows.map((each) => each.innerText.replace(/\s+/g, ' ')).join('. ');
  });

  // One sound when the amount that was entered is paid.
  if (record && !record.querySelector('.state.good')) {
    document.addEventListener('htmx:after:swap', () => {
      if (document.querySelector('#record .state.good')) beep();
    });
  }

  let sinceShownMs = stopwatch();
  function showAge() {
    const age = document.querySelector('[data-age-ms]');
    if (!age) return;
    const seconds = Math.floor((Number(age.dataset.ageMs) + sinceShownMs()) / 1000);
    const minutes = Math.floor(seconds / 60);
    const text = minutes === 0 ? seconds + (seconds === 1 ? ' second ago' : ' seconds ago') : minutes + ' min ago';
    age.textContent = minutes < 60 ? text : '';
  }
  setInterval(showAge, 1000);
})();
