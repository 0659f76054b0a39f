namespace JasperFx;

public enum AutoCreate
{
    /// <summary>Here the same as <see cref="CreateOrUpdate"/>: nothing is ever dropped to make a table fit.</summary>
    All,

    CreateOrUpdate,
    CreateOnly,
    None,
}
