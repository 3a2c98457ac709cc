//! What failed although the annotator did nothing wrong: the disk, a run, this program.

use super::InWords;
use crate::error::{Error, ErrorKind};
use std::io;

impl InWords for Error {
    fn english(&self) -> String {
        self.message.clone()
    }

    /// Paths and the words of the operating system help nobody who annotates; the terminal has them. Only programs send
    /// wrong data.
    fn italian(&self) -> String {
        let cause = self.source.as_ref().and_then(|source| source.downcast_ref::<io::Error>()).map(io::Error::kind);
        match self.kind {
            ErrorKind::Io if cause == Some(io::ErrorKind::StorageFull) => "il disco è pieno; fai spazio".into(),
            ErrorKind::Io | ErrorKind::CantCreate => {
                "il disco non si lascia leggere o scrivere; controlla la cartella del progetto".into()
            }
            ErrorKind::Unavailable => "ora non è possibile; riprova tra poco, o con una storia più breve".into(),
            ErrorKind::MissingInput => "il modello non è caricato; avvia tiered app con la sua cartella".into(),
            ErrorKind::Data | ErrorKind::Usage => self.message.clone(),
            _ => "qualcosa non ha funzionato; il terminale di tiered app dice che cosa".into(),
        }
    }
}
