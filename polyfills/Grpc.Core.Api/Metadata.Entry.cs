using System.Buffers;
using System.Text;

namespace Grpc.Core;

public sealed partial class Metadata
{
    public class Entry
    {
        private static readonly SearchValues<char> KeyCharacters =
            SearchValues.Create("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

        private readonly string? _text;
        private readonly byte[]? _bytes;

        public Entry(string key, byte[] valueBytes)
        {
            Key = Normalize(key);
            if (!IsBinaryKey(Key))
            {
                throw new ArgumentException(
                    $"Key for binary valued metadata entry needs to have '{BinaryHeaderSuffix}' suffix " +
                    "indicating binary value.");
            }

            ArgumentNullException.ThrowIfNull(valueBytes);
            _bytes = [.. valueBytes];
        }

        public Entry(string key, string value)
        {
            Key = Normalize(key);
            if (IsBinaryKey(Key))
            {
                throw new ArgumentException(
                    "Key for ASCII valued metadata entry cannot have suffix indicating binary value.");
            }

            ArgumentNullException.ThrowIfNull(value);
            _text = value;
        }

        public string Key { get; }

        public bool IsBinary => _text is null;

        /// <summary>The text of an ASCII entry.</summary>
        /// <exception cref="InvalidOperationException">The entry is a binary one.</exception>
        public string Value =>
            _text ?? throw new InvalidOperationException("Cannot access string value of a binary metadata entry");

        /// <summary>A copy of the bytes, or the ASCII encoded text.</summary>
        public byte[] ValueBytes => _text is null ? [.. _bytes!] : Encoding.ASCII.GetBytes(_text);

        public override string ToString() =>
            IsBinary ? $"[Entry: key={Key}, valueBytes={_bytes}]" : $"[Entry: key={Key}, value={_text}]";

        internal bool HasKey(string key) => string.Equals(Key, key, StringComparison.OrdinalIgnoreCase);

        private static bool IsBinaryKey(string key) => key.EndsWith(BinaryHeaderSuffix, StringComparison.Ordinal);

        private static string Normalize(string key)
        {
            ArgumentNullException.ThrowIfNull(key);
            if (key.AsSpan().ContainsAnyExcept(KeyCharacters))
            {
                throw new ArgumentException(
                    "Metadata entry key not valid. Keys can only contain lowercase alphanumeric characters, " +
                    "underscores, hyphens and dots.");
            }

            return key.ToLowerInvariant();
        }
    }
}
